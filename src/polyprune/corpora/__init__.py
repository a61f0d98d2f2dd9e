"""Text in, batches out: languages, text files, streams of examples, masking, tokenizers."""
