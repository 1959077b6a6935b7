// A user's secret for jobs whose launcher hands out none: the file .trireme/job_secret in the home folder, which nobody
// else can read, so that all processes of the user have it where the hosts share that folder. The first process makes
// it, whole or not at all, of 32 random bytes. Any thread.
#pragma once

#include <string>

namespace trireme::cluster {

// Where it cannot be made or read, or others could read it, a user error that says what to do.
std::string user_secret(const std::string& home);

}  // namespace trireme::cluster
