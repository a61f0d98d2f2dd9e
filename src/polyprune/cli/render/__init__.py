"""What the terminal shows: tables, bars and live views."""
