"""Write a fitted pipeline or an ensemble as ONNX, and check that it predicts as the model does.

Begin with `file`.
"""
