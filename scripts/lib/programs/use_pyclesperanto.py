"""pyclesperanto filters and labels a volume."""

import numpy as np, pyclesperanto as cle
cle.select_device(0)
image = cle.push(np.random.default_rng(1).random((16, 64, 64)).astype(np.float32))
smooth = cle.gaussian_blur(image, sigma_x=1, sigma_y=1, sigma_z=1)
labels = cle.connected_component_labeling(cle.threshold_otsu(smooth))
print(cle.maximum_of_all_pixels(labels), round(float(cle.sum_of_all_pixels(smooth))))
