const REMEMBERED = 1_000

/** Passes the same line on only once per `windowMs`: a database that is down is said by every loop of every process. */
export function oncePer(windowMs: number, pass: (line: string) => unknown): (line: string) => void {
  const passedAt = new Map<string, number>()
  return (line) => {
    const now = performance.now()
    if (now - (passedAt.get(line) ?? Number.NEGATIVE_INFINITY) < windowMs) return
    if (passedAt.size >= REMEMBERED) passedAt.clear()
    passedAt.set(line, now)
    pass(line)
  }
}
