import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

export interface ScreeningMetrics {
  calls: Counter<'detector' | 'outcome'>
  times: Histogram<'detector'>
  /** 1 while no calls are made. */
  circuit: Gauge<'detector'>
}

export function createScreeningMetrics(registry: Registry): ScreeningMetrics {
  return {
    calls: new Counter({
      name: 'countersign_screening_calls_total',
      help: 'Calls to the detector by outcome: scored, unsupported, limited (429), refused (credentials, plan), failed, aborted.',
      labelNames: ['detector', 'outcome'],
      registers: [registry],
    }),
    times: new Histogram({
      name: 'countersign_screening_call_seconds',
      help: 'Time of a call to the detector.',
      labelNames: ['detector'],
      buckets: [0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
      registers: [registry],
    }),
    circuit: new Gauge({
      name: 'countersign_screening_circuit_open',
      help: '1 while this process makes no calls because the detector fails, refuses or asked for a pause.',
      labelNames: ['detector'],
      registers: [registry],
    }),
  }
}
