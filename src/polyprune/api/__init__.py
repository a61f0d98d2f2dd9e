"""One function per verb: a model or its name and a frozen request in, a frozen result out.

Requests are in `requests/`, which imports nothing heavy, so that the command line can read its
options off them; what the verbs do is in the file of each verb.
"""
