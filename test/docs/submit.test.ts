import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { renderPhoto } from '../../capture-kit/photo.ts'
import { CAMERAS } from '../../capture-kit/stock.ts'
import { readRows } from '../commands/submission.ts'
import { type Guide, missingTools, openGuide } from '../support/guide.ts'
import { type System, startSystem } from '../support/system.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const TOOLS = ['bash', 'npm']
const YEAR_MS = 365 * 24 * 3_600_000

describe.skipIf(missingTools(TOOLS).length > 0)(
  `the guide of bulk submissions (skipped where one of ${TOOLS} is missing)`,
  { timeout: 240_000 },
  () => {
    const data = mkdtempSync(join(tmpdir(), 'countersign-data-'))
    let system: System
    let guide: Guide

    beforeAll(async () => {
      system = await startSystem({ engine: 'postgres', only: ['web', 'dispatch', 'attest', 'compare'] })
      // The commands run in the checkout, and a reader's key is in the environment.
      guide = openGuide('docs/attest/submit.md', {
        'npm run': `DATA_DIR=${data} COUNTERSIGN_KEY=${system.key} npm --prefix ${ROOT} run`,
        'http://localhost:8080': system.baseUrl,
      })
      mkdirSync(join(guide.folder, 'photos'))
      for (const [at, name] of ['IMG_0001.jpg', 'IMG_0002.jpg', 'IMG_0003.jpg'].entries()) {
        const takenAt = new Date(Date.now() - YEAR_MS)
        const exif = {
          camera: CAMERAS[0],
          takenAt,
          utcOffsetMinutes: 0,
          hasOffset: true,
          exposureSeconds: 0.01,
          iso: 50,
        }
        const photo = await renderPhoto({ seed: at + 1, width: 320, height: 240, exif: at === 2 ? null : exif })
        writeFileSync(join(guide.folder, 'photos', name), photo)
      }
    })
    afterAll(async () => {
      guide?.close()
      rmSync(data, { recursive: true, force: true })
      await system?.close()
    })

    it('runs as it stands, and no photo of the reader comes out as failed', async () => {
      await guide.run()
      const rows = readRows(join(guide.folder, 'countersign-results'))
      expect(rows.map(({ risk_status: risk, factors }) => [risk, factors])).toEqual(
        Array(3).fill(['review', 'hardware_backing_absent +40']),
      )
      // A claim for each photo.
      expect(new Set(rows.map(({ claim_id: claim }) => claim)).size).toBe(3)
    })
  },
)
