export interface Progress {
  add(count: number): void
  /** Leaves the last state on the screen. */
  end(): void
}

interface Screen {
  isTTY?: boolean
  write(text: string): unknown
}

const WIDTH = 30
const REDRAW_MS = 100
// What was counted in less time was there already, or came at once: its rate would be that of this computer counting.
const LEAST_SECONDS = 0.5

/** A bar with the rate per second, once there is one; without a terminal, one line at the end. */
export function createProgress(
  label: string,
  total: number,
  { screen = process.stderr, now = () => performance.now() }: { screen?: Screen; now?: () => number } = {},
): Progress {
  const startedAt = now()
  const digits = String(total).length
  let done = 0
  let drawnAt = 0

  const line = () => {
    const seconds = (now() - startedAt) / 1_000
    // The report shows a surplus; the bar ends at the expected number.
    const filled = total === 0 ? WIDTH : Math.min(WIDTH, Math.round((done / total) * WIDTH))
    const bar = `${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}`
    const rate = seconds < LEAST_SECONDS ? '' : `  ${(done / seconds).toFixed(1).padStart(6)}/s`
    return `${label.padEnd(20)} [${bar}] ${String(done).padStart(digits)}/${total}${rate}`
  }
  return {
    add(count) {
      done += count
      if (screen.isTTY !== true || now() - drawnAt < REDRAW_MS) return
      drawnAt = now()
      screen.write(`\r${line()}\x1b[K`)
    },
    end() {
      screen.write(screen.isTTY === true ? `\r${line()}\x1b[K\n` : `${line()}\n`)
    },
  }
}
