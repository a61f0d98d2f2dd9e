"""What each verb is asked for: frozen values whose fields are the options of the command line."""
