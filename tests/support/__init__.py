"""What tests share: tiny models, text, folders and clocks, all made here."""
