import { defineFeature, type Platform } from '#src/platform/feature.ts'
import type { JobOutcome, Work } from '#src/platform/jobs/consume.ts'
import { createPolledWaits } from '#src/platform/polled-waits.ts'
import { deploymentRule, oldRows, rowRule } from '#src/platform/retention.ts'
import { checkExclusions } from './check.ts'
import type { ExclusionSettings } from './config.ts'
import { createExclusions } from './exclusions.ts'
import { purgeFiles } from './file-rows.ts'
import { createListImporter } from './import.ts'
import { createMatchSecret, SEALED_MATCH_SECRET } from './match-secret.ts'
import { NOTES } from './notes.ts'
import { createMirror, createOperatorImports } from './operator.ts'
import { exclusionRoutes } from './routes.ts'
import { failImport, findEndedImports, requeueImport } from './rows.ts'
import { createScreenings, type SubjectPager } from './screening.ts'
import { failScreening, requeueScreening } from './screening-rows.ts'

export type ExclusionsFeature = ReturnType<typeof exclusionsFeature>

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
// The time that clinical entries of the ledger are kept: 21 CFR 1311.305 asks for two years.
const KEPT_DAYS = 731
/** Entries of a file that is not in force any more. Uploaded bytes stay as long as their import. */
const ENTRY_DAYS = 30
const SCREENING_DAYS = 90

/**
 * The exclusion lists LEIE and SAM: their import, and what prescribers were found on them.
 * @param subjects Of the prescribers, whose feature is above this one: called by jobs.
 */
export function exclusionsFeature(p: Platform, settings: ExclusionSettings, { subjects }: { subjects: SubjectPager }) {
  const matchSecret = createMatchSecret(p)
  const waits = createPolledWaits({ db: p.db, reason: 'awaited imports of exclusion lists', find: findEndedImports })
  p.onClose(waits.close, 'waits for imports of exclusion lists')
  const exclusions = createExclusions({ ...p, waits })
  const importList = createListImporter({ ...p, matchSecret })
  const screenings = createScreenings({ ...p, subjects })

  const work: Work<'exclusions'> = {
    run: async (payload, job) => {
      const isSettled = await ('exclusionImportId' in payload
        ? importList(job.scope, payload.exclusionImportId, job)
        : screenings.screen(payload.exclusionScreeningId, job))
      return ended(isSettled)
    },
    onDead: async (tx, _scope, payload) => {
      const detail = 'It failed repeatedly. Upload the file again.'
      if ('exclusionImportId' in payload) {
        await failImport(tx, payload.exclusionImportId, { code: 'import_failed', detail })
      } else await failScreening(tx, payload.exclusionScreeningId, 'It failed repeatedly.')
    },
    onRedrive: (tx, _scope, payload) =>
      'exclusionImportId' in payload
        ? requeueImport(tx, payload.exclusionImportId)
        : requeueScreening(tx, payload.exclusionScreeningId),
  }

  return defineFeature(
    {
      name: 'exclusions',
      data: [
        { table: 'exclusion_imports', key: ['id'] },
        { table: 'exclusion_pointers', key: ['list'] },
        { table: 'exclusion_screenings', key: ['id'] },
        { table: 'exclusion_changes', key: ['screening_id', 'prescriber_id'] },
        { table: 'exclusion_reviews', key: ['id'] },
      ],
      sealed: [SEALED_MATCH_SECRET],
      routes: exclusionRoutes(exclusions),
      notes: NOTES,
      work: { exclusions: () => work },
      tasks: [
        { name: 'exclusion mirror', everyMs: HOUR_MS, start: () => createMirror({ ...p, exclusions }, settings) },
        { name: 'exclusion screenings', everyMs: MINUTE_MS, start: () => screenings.queueDue },
      ],
      retention: [
        rowRule(
          p.db,
          'exclusion_imports',
          KEPT_DAYS,
          oldRows({
            table: 'exclusion_imports',
            idType: 'exi',
            age: 'created_at',
            unless: ['SELECT FROM exclusion_pointers WHERE exclusion_pointers.import_id = exclusion_imports.id'],
          }),
        ),
        rowRule(
          p.db,
          'exclusion_screenings',
          SCREENING_DAYS,
          oldRows({
            table: 'exclusion_screenings',
            idType: 'exs',
            age: 'created_at',
            // The newest change of a prescriber is what the next screening is compared with.
            unless: ['SELECT FROM exclusion_changes WHERE exclusion_changes.screening_id = exclusion_screenings.id'],
          }),
        ),
        deploymentRule(p, { what: 'exclusion_files', days: ENTRY_DAYS }, purgeFiles),
      ],
    },
    {
      matchSecret,
      exclusions: { check: checkExclusions, openReviews: screenings.openReviews },
      writeExclusionsLetter: screenings.writeLetter,
      operatorImports: createOperatorImports({ ...p, exclusions, importList }),
    },
  )
}

function ended(isSettled: boolean): JobOutcome {
  return isSettled ? { kind: 'settled' } : { kind: 'done' }
}
