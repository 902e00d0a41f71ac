// The facts about the bytes of a submission: EXIF, XMP, texts and the C2PA manifest. Each parser has its own thread. A
// file that stops a parser becomes a finding; a machine that is too busy causes a retry.

import type { Scope } from '#src/platform/ids.ts'
import type { JobOutcome, RunningJob } from '#src/platform/jobs/consume.ts'
import type { BlobStore } from '#src/platform/store/blobs.ts'
import { inSpan } from '#src/platform/trace.ts'
import type { C2paReader } from './c2pa.ts'
import type { C2paFacts } from './c2pa-facts.ts'
import type { DeclaredFacts } from './declared.ts'
import type { ExifFacts, FileFacts } from './exif.ts'
import type { Inspector } from './inspector.ts'
import type { InspectionCode } from './threads.ts'

export interface MediaFactsDeps {
  /** Certificates (DER) that the account trusts for C2PA, in addition to the deployment's. */
  c2paAnchorsOf(scope: Scope): Promise<readonly Uint8Array[]>
  store: Pick<BlobStore, 'withLocalFile'>
  inspector: Pick<Inspector, 'inspect'>
  c2pa: Pick<C2paReader, 'read'>
}

export interface MediaFacts {
  exif: ExifFacts
  /** Left out: no manifest was searched for. */
  c2pa?: C2paFacts
  /** What the media declare outside of C2PA; left out: nothing was read. */
  declared?: DeclaredFacts
}

type Job = Pick<RunningJob, 'scope' | 'attempt'>
interface Submitted {
  mediaSha256: Buffer
  acceptedAt: Date
}

export type ReadMedia = (job: Job, submitted: Submitted) => Promise<MediaFacts>

/** Certificates must be valid at the time at which the submission was accepted. */
export function createReadMedia({ c2paAnchorsOf, store, inspector, c2pa }: MediaFactsDeps): ReadMedia {
  return (job, submitted) =>
    inSpan(
      () => ({ name: 'inspect media' }),
      () => store.withLocalFile(job.scope, submitted.mediaSha256.toString('hex'), (path) => read(path, job, submitted)),
    )

  /** @throws when the media can't be read now: `MEDIA_BUSY`, or an error. */
  async function read(path: string, job: Job, submitted: Submitted): Promise<MediaFacts> {
    const inspection = await inspector.inspect(path, job.scope.accountId)
    if (!inspection.ok) {
      const { code, detail } = inspection
      if (code !== 'unreadable' && !isOfTheFile(code, job)) throw notNow('the media', code)
      // The same parser searches for a manifest.
      return {
        exif: { state: 'unreadable', detail: `${code}: ${detail}` },
        c2pa: { state: 'unread', why: code, detail },
      }
    }
    const { exif, declared } = inspection.value
    return { exif, declared, c2pa: await readManifest(path, inspection.value, job, submitted) }
  }

  /** @throws when the manifest can't be read now: `MEDIA_BUSY`, or an error. */
  async function readManifest(path: string, file: FileFacts, job: Job, submitted: Submitted): Promise<C2paFacts> {
    const reading = await c2pa.read(path, {
      scan: file.c2pa,
      manifestReference: file.declared.manifestReference,
      anchors: () => c2paAnchorsOf(job.scope),
      at: submitted.acceptedAt,
      owner: job.scope.accountId,
    })
    if (reading.ok) return reading.value
    const { code, detail } = reading
    if (!isOfTheFile(code, job)) throw notNow('the C2PA manifest', code)
    return { state: 'unread', why: code, detail }
  }
}

/**
 * Too many files wait for a parser, or it can't be started: this is no failure of the job, which runs again later.
 */
export const MEDIA_BUSY = Symbol('the parsers of media are busy')

// Reading slow files takes seconds, and waiting jobs must not all return at the same time.
const BUSY_MS = 2_000

/**
 * Defers a job whose media wait for a parser. That counts as no failure: ten failures would end the evaluation of an
 * honest file that waited behind slow ones.
 */
export async function deferWhileBusy(run: () => Promise<JobOutcome>, random: () => number): Promise<JobOutcome> {
  try {
    return await run()
  } catch (error) {
    if (error !== MEDIA_BUSY) throw error
    return {
      kind: 'defer',
      reason: 'too many files are waiting to be read, or their parser could not be started',
      delayMs: Math.round(BUSY_MS * (0.5 + random())),
    }
  }
}

function notNow(what: string, code: InspectionCode): Error | typeof MEDIA_BUSY {
  return code === 'busy' ? MEDIA_BUSY : new Error(`${what} can't be read now: ${code}`)
}

// If a file times out or crashes its parser on a retry too, the cause is the file and not this machine.
function isOfTheFile(code: InspectionCode, { attempt }: Job): code is 'timeout' | 'crashed' {
  return attempt > 1 && (code === 'timeout' || code === 'crashed')
}
