// A folder of images as a dataset: either one folder per class, named after the class, or folders train and test (or
// val) that contain class folders. Thread-safe.
#pragma once

#include "data/readers/data_request.h"

namespace trireme::data {

// True if request.name is a folder that may hold images: it has folders or images inside, or is empty.
bool is_image_folder(const DataRequest& request);

// Decodes every image once, on all cores, into one column of bytes. Scales all to the network's input (the first of
// request.wanted_inputs, if that is an image), else as decode_images() does. Without a test folder, part of the images
// becomes the test set. User errors name the folder or the image.
DataPair open_image_folder(const DataRequest& request);

}  // namespace trireme::data
