import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { oldRows, rowRule } from '#src/platform/retention.ts'
import type { MediaFeature } from '../media/feature.ts'
import type { TrustFeature } from '../trust/feature.ts'
import { createScreeningBatches } from './batches.ts'
import type { DetectorSettings } from './config.ts'
import { openDetector } from './detectors/open.ts'
import { createObserve, rejudgeAttested } from './evaluation.ts'
import { createScreeningMetrics } from './metrics.ts'
import { EVENTS, NOTES } from './notes.ts'
import { screenRoutes } from './routes.ts'
import { purgeSettings } from './rows.ts'
import { createScreen, type ScreenDeps } from './screen.ts'
import { createScreenings } from './screenings.ts'
import { createScreeningSettings } from './settings.ts'

export type ScreenFeature = ReturnType<typeof screenFeature>

type Below = Pick<MediaFeature, 'media' | 'inspector' | 'c2pa'> &
  Pick<TrustFeature, 'c2paAnchorsOf'> &
  Pick<ScreenDeps, 'addAdvisoryCodes'>

/** Screens media for synthetic content with a detector. */
export function screenFeature(
  p: Platform,
  { media, inspector, c2pa, c2paAnchorsOf, addAdvisoryCodes }: Below,
  settings: DetectorSettings,
) {
  const screenings = createScreenings({
    ...p,
    storeInline: media.storeInline,
    dispatchSoon: p.dispatchSoon('screen'),
  })
  const batches = createScreeningBatches(p)
  const accountSettings = createScreeningSettings(p)
  return defineFeature(
    {
      name: 'screen',
      data: [
        { table: 'screening_settings', key: [] },
        { table: 'screening_batches', key: ['id'] },
        { table: 'screenings', key: ['id'] },
        { table: 'screening_calls', key: ['screening_id', 'seq'] },
      ],
      routes: screenRoutes(screenings, batches, accountSettings),
      notes: NOTES,
      events: EVENTS,
      work: {
        screen: () =>
          createScreen({
            ...p,
            detector: openDetector(settings, p),
            observe: createObserve({ ...p, inspector, c2pa, c2paAnchorsOf }),
            addAdvisoryCodes,
            onScored: rejudgeAttested,
            metrics: createScreeningMetrics(p.registry),
          }),
      },
      // Only where keys are published; elsewhere a screening lives as long as its account, because results refer to it.
      retention: [
        rowRule(p.db, 'screenings', null, oldRows({ table: 'screenings', idType: 'scr', age: 'created_at' })),
        rowRule(
          p.db,
          'screening_batches',
          null,
          oldRows({
            table: 'screening_batches',
            idType: 'bat',
            age: 'created_at',
            unless: ['SELECT FROM screenings WHERE screenings.batch_id = screening_batches.id'],
            isLocking: true,
          }),
        ),
        rowRule(p.db, 'screening_settings', null, purgeSettings),
      ],
    },
    { screenings },
  )
}
