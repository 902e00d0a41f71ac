import { setTimeout as delay } from 'node:timers/promises'

/** Waits for a condition, not for a time: asks every few milliseconds, and fails loudly when it never comes true. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  { timeoutMs = 120_000, everyMs = 10 }: { timeoutMs?: number; everyMs?: number } = {},
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`the condition did not come true within ${timeoutMs} ms`)
    await delay(everyMs)
  }
}
