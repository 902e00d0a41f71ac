import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { oldRows, rowRule } from '#src/platform/retention.ts'
import { createCycles } from './cycles.ts'
import { NOTES } from './notes.ts'
import { scheduleRoutes } from './routes.ts'
import { createSchedules } from './schedules.ts'

export type SchedulesFeature = ReturnType<typeof schedulesFeature>

/** Standing schedules: one payment to one counterparty in each cycle. */
export function schedulesFeature(p: Platform) {
  const schedules = createSchedules(p)
  return defineFeature(
    {
      name: 'schedules',
      data: [
        { table: 'schedules', key: ['id'] },
        { table: 'schedule_cycles', key: ['schedule_id', 'cycle'] },
      ],
      routes: scheduleRoutes(schedules, createCycles(p)),
      notes: NOTES,
      // With their cycles, only where keys are published: what an agent paid is asked for years later.
      retention: [rowRule(p.db, 'schedules', null, oldRows({ table: 'schedules', idType: 'sch', age: 'created_at' }))],
    },
    { schedules },
  )
}
