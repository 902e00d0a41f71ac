import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { oldRows, rowRule } from '#src/platform/retention.ts'
import { createBatches } from './batches.ts'
import { NOTES } from './notes.ts'
import { batchRoutes } from './routes.ts'

export type BatchesFeature = ReturnType<typeof batchesFeature>

export function batchesFeature(p: Platform) {
  const batches = createBatches(p)
  return defineFeature(
    {
      name: 'batches',
      data: [{ table: 'batches', key: ['id'] }],
      routes: batchRoutes(batches),
      notes: NOTES,
      retention: [
        rowRule(
          p.db,
          'batches',
          null,
          oldRows({
            table: 'batches',
            idType: 'bat',
            age: 'created_at',
            unless: ['SELECT FROM attestations WHERE attestations.batch_id = batches.id'],
            isLocking: true,
          }),
        ),
      ],
    },
    { batches },
  )
}
