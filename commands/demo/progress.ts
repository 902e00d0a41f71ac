export interface Progress {
  add(count: number): void
  /** Leaves the last state on the screen. */
  end(): void
}

const WIDTH = 30

/** A bar on stderr with the rate per second; on what is no terminal, one line at the end. */
export function createProgress(label: string, total: number): Progress {
  const startedAt = performance.now()
  let done = 0
  let drawnAt = 0

  const line = () => {
    const seconds = (performance.now() - startedAt) / 1_000
    const filled = total === 0 ? WIDTH : Math.round((done / total) * WIDTH)
    const rate = seconds > 0 ? (done / seconds).toFixed(1) : '0.0'
    return `${label.padEnd(20)} [${'#'.repeat(filled)}${'.'.repeat(WIDTH - filled)}] ${done}/${total}  ${rate}/s`
  }
  return {
    add(count) {
      done += count
      if (!process.stderr.isTTY || performance.now() - drawnAt < 100) return
      drawnAt = performance.now()
      process.stderr.write(`\r${line()}   `)
    },
    end() {
      process.stderr.write(process.stderr.isTTY ? `\r${line()}   \n` : `${line()}\n`)
    },
  }
}
