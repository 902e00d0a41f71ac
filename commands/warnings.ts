const REMEMBERED = 1_000
// A receiver that is away fails each of its deliveries for hours, with different reasons: one line a minute is enough.
const ENDPOINT_WINDOW_MS = 60_000
const ABOUT_ENDPOINT = /^.*?\bwhe_(?:test|live)_[0-9a-z]{26}\b/

/**
 * Passes the same line on only once per `windowMs`: every loop of every process reports a database that is down. Lines
 * about a webhook endpoint pass once per endpoint and minute, whatever the reason.
 */
export function oncePer(
  windowMs: number,
  pass: (line: string) => unknown,
  now: () => number = () => performance.now(),
): (line: string) => void {
  const passedAt = new Map<string, number>()
  return (line) => {
    const about = ABOUT_ENDPOINT.exec(line)?.[0]
    const key = about ?? line
    const since = now() - (passedAt.get(key) ?? Number.NEGATIVE_INFINITY)
    if (since < (about === undefined ? windowMs : ENDPOINT_WINDOW_MS)) return
    if (passedAt.size >= REMEMBERED) passedAt.clear()
    passedAt.set(key, now())
    pass(line)
  }
}
