// Tags: what messages of the mailbox are about. Those below 1000 belong to the training loop.
#pragma once

#include "comm/mailbox/mailbox.h"

namespace trireme::strategy {

enum ServerTag : comm::Tag {
  // Worker 0 gives a server its shard when it says that it is ready; a server gives it back to each worker that asks.
  kReadyTag = 1000,
  kHandOverTag,
  kAskBackTag,
  kGiveBackTag,
  // A worker begins an interval.
  kBeginTag,
  // Servers tell one of them how large their part of the gradient is, when it asks, and hear the factor to clip by.
  kNormAskTag,
  kNormTag,
  kClipTag,
  // Leaders of groups tell the first of them that they have ended an interval, and hear when all have.
  kMeetTag,
  kMetTag,
  // Between a request thread and its session; the lane is added.
  kPushTag = 1100,
  kReplyTag = 1200,
};

}  // namespace trireme::strategy
