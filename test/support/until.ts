import { setTimeout as delay } from 'node:timers/promises'

/**
 * Waits for a condition, not for a time: checks every few milliseconds, and fails when it never becomes true.
 * @param what The condition in words, for the failure: `attest-1 is ready`.
 */
export async function until(
  condition: () => boolean | Promise<boolean>,
  {
    timeoutMs = 120_000,
    everyMs = 10,
    what = 'the condition',
  }: { timeoutMs?: number; everyMs?: number; what?: string } = {},
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`${what} did not come true within ${timeoutMs} ms`)
    await delay(everyMs)
  }
}
