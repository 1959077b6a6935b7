// What happened in a run at a step: lost workers, switches, checkpoints ...

import { duration } from "./format.js";

const kKinds = {
  lost: { sign: "✕", colour: "bad", text: (m) => `${m.who || "a worker"} lost, ${m.workers_left ?? "?"} left` },
  joined: { sign: "＋", colour: "good", text: (m) => `${m.who || "a worker"} joined` },
  hand_over: { sign: "⇄", colour: "accent", text: (m) => `${m.strategy} takes over after ${duration(m.seconds)}` },
  resumed: { sign: "↻", colour: "soft", text: () => "resumed" },
  checkpoint: {
    sign: "▾", colour: "soft", isSmall: true,
    text: (m) => `checkpoint${m.is_best ? ", the best so far" : ""}, ${duration(m.seconds)}`,
  },
  diverged: { sign: "!", colour: "bad", text: (m) => `${m.what} became ${m.value}` },
  detached: { sign: "⏏", colour: "soft", text: (m) => `terminal closed (${m.cause})` },
  paused: { sign: "‖", colour: "soft", text: (m) => `paused for ${duration(m.seconds)}` },
};

// The first hand-over of a run is no switch.
export function marksOf(run) {
  return (run.sections.marks || [])
    .filter((mark) => kKinds[mark.type] && (mark.type !== "hand_over" || mark.is_switch))
    .map((mark) => {
      const kind = kKinds[mark.type];
      return { step: mark.step, elapsed: mark.elapsed, time: mark.time, type: mark.type, sign: kind.sign,
               colour: kind.colour, isSmall: kind.isSmall, text: kind.text(mark) };
    });
}

export function marksOver(run, axis) {
  const perEpoch = run.sections.run?.resolved?.steps_per_epoch || 0;
  return marksOf(run).map((mark) => ({
    ...mark,
    x: axis === "time" ? mark.elapsed : axis === "epoch" && perEpoch > 0 ? mark.step / perEpoch : mark.step,
  }));
}
