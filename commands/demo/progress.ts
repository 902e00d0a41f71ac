export interface Progress {
  add(count: number): void
  /** Leaves the last state on the screen. */
  end(): void
}

const WIDTH = 30
const REDRAW_MS = 100

/** A bar on stderr with the rate per second; without a terminal, one line at the end. */
export function createProgress(label: string, total: number): Progress {
  const startedAt = performance.now()
  const digits = String(total).length
  let done = 0
  let drawnAt = 0

  const line = () => {
    const seconds = (performance.now() - startedAt) / 1_000
    // The report shows a surplus; the bar ends at the expected number.
    const filled = total === 0 ? WIDTH : Math.min(WIDTH, Math.round((done / total) * WIDTH))
    const rate = seconds > 0 ? (done / seconds).toFixed(1) : '0.0'
    const bar = `${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}`
    return `${label.padEnd(20)} [${bar}] ${String(done).padStart(digits)}/${total}  ${rate.padStart(6)}/s`
  }
  return {
    add(count) {
      done += count
      if (!process.stderr.isTTY || performance.now() - drawnAt < REDRAW_MS) return
      drawnAt = performance.now()
      process.stderr.write(`\r${line()}\x1b[K`)
    },
    end() {
      process.stderr.write(process.stderr.isTTY ? `\r${line()}\x1b[K\n` : `${line()}\n`)
    },
  }
}
