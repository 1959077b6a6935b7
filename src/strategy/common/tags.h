// ServerTag: the mailbox tags of strategies. Tags below 1000 belong to the training loop.
#pragma once

#include "comm/mailbox/mailbox.h"

namespace trireme::strategy {

enum ServerTag : comm::Tag {
  // Worker 0 sends a server its shard after the server's kReadyTag. A server sends the shard back to each worker that
  // asks with kAskBackTag.
  kReadyTag = 1000,
  kHandOverTag,
  kAskBackTag,
  kGiveBackTag,
  // A worker begins an interval.
  kBeginTag,
  // Gradient clipping: the first server asks each other server for its sums of squares, and replies with the factor.
  kNormAskTag,
  kNormTag,
  kClipTag,
  // A barrier of the group leaders at the end of an interval: each reports to the first leader, which replies when all
  // have.
  kMeetTag,
  kMetTag,
  // Between a request thread and its session; the lane is added to the tag.
  kPushTag = 1100,
  kReplyTag = 1200,
};

}  // namespace trireme::strategy
