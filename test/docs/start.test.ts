import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { renderPhoto } from '../../capture-kit/photo.ts'
import { type Guide, missingTools, openGuide } from '../support/guide.ts'
import { type System, startSystem } from '../support/system.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const TOOLS = ['bash', 'curl', 'npm']

describe.skipIf(missingTools(TOOLS).length > 0)(
  `the guide of first requests (skipped where one of ${TOOLS} is missing)`,
  { timeout: 240_000 },
  () => {
    const data = mkdtempSync(join(tmpdir(), 'countersign-data-'))
    let system: System
    let guide: Guide

    beforeAll(async () => {
      system = await startSystem({ engine: 'postgres', only: ['web', 'dispatch', 'attest', 'compare'] })
      guide = openGuide('docs/start/first-requests.md', {
        'npm run': `DATA_DIR=${data} npm --prefix ${ROOT} run`,
        'http://localhost:8080': system.baseUrl,
        svc_test_your_own_key: system.key,
      })
      const photo = await renderPhoto({ seed: 1, width: 640, height: 480, exif: null })
      writeFileSync(join(guide.folder, 'photo.jpg'), photo)
    })
    afterAll(async () => {
      guide?.close()
      rmSync(data, { recursive: true, force: true })
      await system?.close()
    })

    it('runs from the first block to the last, and prints what it shows', async () => {
      await guide.run()
    })
  },
)
