import { Counter, Histogram, type Registry } from 'prom-client'
import { labelOf } from './reasons.ts'

/** What the web process counts of verifications. A policy's own reasons share one label. */
export function createVerifyMetrics(registry: Registry) {
  const answers = new Counter({
    name: 'countersign_verify_answers_total',
    help: 'Verifications by their answer: valid, one of the published reasons, or policy_own.',
    labelNames: ['reason'],
    registers: [registry],
  })
  const times = new Histogram({
    name: 'countersign_verify_seconds',
    help: 'Time of a verification, its policy webhooks included.',
    labelNames: ['asked'],
    buckets: [0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [registry],
  })
  /** @param hasAsked Whether a webhook or a canary was asked. */
  return (reason: string | null, { seconds, hasAsked }: { seconds: number; hasAsked: boolean }): void => {
    answers.inc({ reason: labelOf(reason) })
    times.observe({ asked: hasAsked ? 'yes' : 'no' }, seconds)
  }
}

export type CountVerify = ReturnType<typeof createVerifyMetrics>
