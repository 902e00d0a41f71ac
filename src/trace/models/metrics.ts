import { Gauge, type Registry } from 'prom-client'
import type { Models } from './models.ts'

/** The queues of this process's models. A model that no request has asked for has none. */
export function collectModels(registry: Registry, models: Pick<Models, 'waiting'>): void {
  new Gauge({
    name: 'countersign_model_waiting',
    help: 'Requests that wait for a model of this process, by model; the running one is not counted.',
    labelNames: ['model'],
    registers: [registry],
    collect() {
      this.reset()
      for (const { model, waiting } of models.waiting()) this.set({ model }, waiting)
    },
  })
}
