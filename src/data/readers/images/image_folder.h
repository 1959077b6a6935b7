// A folder of images as a dataset: one folder per class, named after it, or folders train and test (or val) of such.
#pragma once

#include "data/readers/data_request.h"

namespace trireme::data {

// Whether request.name is a folder that may hold images: it has folders or images inside, or nothing at all.
bool is_image_folder(const DataRequest& request);

// Decodes every image once, on all cores, into one column of bytes. All become what the network takes (the first of
// request.wanted_inputs, where that is an image), else they must have one size. Without a test folder part of the
// images serve. User errors name the folder or the image.
DataPair open_image_folder(const DataRequest& request);

}  // namespace trireme::data
