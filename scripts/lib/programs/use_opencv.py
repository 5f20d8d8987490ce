"""OpenCV's filters on its OpenCL images."""

import cv2, numpy as np
cv2.ocl.setUseOpenCL(True)
assert cv2.ocl.useOpenCL()
image = cv2.UMat(np.random.default_rng(1).integers(0, 255, (128, 128, 3), dtype=np.uint8))
gray = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
smooth = cv2.medianBlur(cv2.GaussianBlur(gray, (5, 5), 1.2), 3)
edges = cv2.Sobel(smooth, cv2.CV_16S, 1, 0)
small = cv2.resize(cv2.threshold(smooth, 100, 255, cv2.THRESH_BINARY)[1], (64, 64))
turned = cv2.warpAffine(gray, np.float32([[1, .1, 2], [-.1, 1, 3]]), (128, 128))
print([int(np.abs(m.get().astype(int)).sum()) for m in (edges, small, turned)])
