"""What travels with every saved model: the encoder, its readouts and the classes that load them.

The files lie flat and import nothing but torch, transformers and each other, because transformers
copies them into a model's folder (`trust_remote_code=True`). A sublayer's file holds all that is to
be known of it: its forward pass, the fused and the exportable one, what is cut for a gate, its
parameters, its multiply–adds and its kernels.
"""
