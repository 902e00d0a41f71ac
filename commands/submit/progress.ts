// The progress of a submission: one line that is rewritten on a terminal, a plain line now and then elsewhere.

export type Step = 'uploaded' | 'sent' | 'settled'

export interface Progress {
  /** Captures that were checked before anything is sent. */
  checked(count: number): void
  /** @param done Captures that earlier runs finished. */
  start(total: number, done: number): void
  add(step: Step, count: number): void
  /** Shown instead of the rate while a call is retried. */
  trouble(reason: string | undefined): void
  end(): void
}

interface Screen {
  isTTY?: boolean
  columns?: number
  write(text: string): unknown
}

const WIDTH = 20
const REDRAW_MS = 200
const PLAIN_MS = 10_000

export function createProgress(screen: Screen, isQuiet: boolean, now = () => performance.now()): Progress {
  const counts = { uploaded: 0, sent: 0, settled: 0 }
  let total = 0
  let atStart = 0
  let startedAt = 0
  let reason: string | undefined
  let last = ''
  let timer: NodeJS.Timeout | undefined
  let checkedAt = now()

  function line(): string {
    const done = counts.uploaded + counts.settled
    // There can be more results than captures in the input: an earlier run may have sent other lines too.
    const share = total === 0 ? 1 : Math.min(1, done / (2 * total))
    const seconds = (now() - startedAt) / 1_000
    const made = done - 2 * atStart
    const rate = seconds > 0 ? made / 2 / seconds : 0
    const bar = '#'.repeat(Math.floor(share * WIDTH)).padEnd(WIDTH, '.')
    const states = `${counts.uploaded}/${total} uploaded, ${counts.sent} submitted, ${counts.settled} done`
    const pace = `${rate.toFixed(1)}/s${made > 0 && share < 1 ? `, ${clock((2 * total - done) / 2 / rate)} left` : ''}`
    return `[${bar}] ${String(Math.floor(share * 100)).padStart(3)} %  ${states}  ${reason ?? pace}`
  }

  function draw(text = line()): void {
    if (text === last) return
    last = text
    // Some terminals report 0.
    const width = (screen.columns || 120) - 1
    screen.write(screen.isTTY === true ? `\r${text.slice(0, width)}\x1b[K` : `${text}\n`)
  }

  return {
    checked(count) {
      if (isQuiet || now() - checkedAt < (screen.isTTY === true ? REDRAW_MS : PLAIN_MS)) return
      checkedAt = now()
      draw(`${count} captures checked`)
    },
    start(all, done) {
      total = all
      atStart = done
      startedAt = now()
      for (const step of ['uploaded', 'sent', 'settled'] as const) counts[step] = done
      if (isQuiet) return
      timer = setInterval(() => draw(), screen.isTTY === true ? REDRAW_MS : PLAIN_MS)
    },
    add(step, count) {
      counts[step] += count
    },
    trouble(why) {
      if (why === reason) return
      reason = why === undefined ? undefined : `trying again: ${why}`
      if (why !== undefined && timer !== undefined && screen.isTTY !== true) draw()
    },
    end() {
      if (timer === undefined) return
      clearInterval(timer)
      timer = undefined
      reason = undefined
      draw()
      if (screen.isTTY === true) screen.write('\n')
    },
  }
}

function clock(seconds: number): string {
  const whole = Math.ceil(seconds)
  const parts = [Math.floor(whole / 3_600), Math.floor(whole / 60) % 60, whole % 60]
  const [hours = 0] = parts
  return (hours > 0 ? parts : parts.slice(1))
    .map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, '0')))
    .join(':')
}
