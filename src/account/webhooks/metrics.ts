import { Counter, Histogram, type Registry } from 'prom-client'
import type { Log } from '#src/platform/log.ts'
import type { Outbound } from '#src/platform/net/outbound.ts'

/** Counts calls to receivers by result. The log of deliveries shows which receiver it was. */
export function countAttempts<O extends Pick<Outbound, 'send'>>(outbound: O, registry: Registry): O {
  const attempts = new Counter({
    name: 'countersign_webhook_attempts_total',
    help: 'Webhook calls by result: 2xx, 3xx, 4xx, 5xx, or why there was no answer (timeout, connect_failed, ...).',
    labelNames: ['result'],
    registers: [registry],
  })
  const times = new Histogram({
    name: 'countersign_webhook_attempt_seconds',
    help: 'Time from the name look-up to the end of the answer.',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15],
    registers: [registry],
  })
  return {
    ...outbound,
    async send(request) {
      const answer = await outbound.send(request)
      attempts.inc({ result: answer.ok ? `${Math.floor(answer.status / 100)}xx` : answer.code })
      times.observe(answer.durationMs / 1_000)
      return answer
    },
  }
}

/** Logs and counts that an endpoint was disabled; the log line has its id. */
export function reportDisabled(registry: Registry, log: Log): (reason: string) => void {
  const disabled = new Counter({
    name: 'countersign_webhook_endpoints_disabled_total',
    help: 'Endpoints that were disabled by reason: gone (410), failing (for days).',
    labelNames: ['reason'],
    registers: [registry],
  })
  return (reason) => {
    disabled.inc({ reason })
    log.warn({ reason }, 'a webhook endpoint was disabled')
  }
}

/** Logs and counts that deliveries to an endpoint are parked; the log line has its id. */
export function reportParked(registry: Registry, log: Log): (openMs: number) => void {
  const opened = new Counter({
    name: 'countersign_webhook_circuits_opened_total',
    help: 'Times that failures of an endpoint parked its deliveries, with each probe that failed.',
    registers: [registry],
  })
  return (openMs) => {
    opened.inc()
    log.info({ delayMs: openMs }, 'the circuit of a webhook endpoint is open: its deliveries are parked')
  }
}
