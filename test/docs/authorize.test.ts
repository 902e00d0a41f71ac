import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newAccountId } from '#src/platform/ids.ts'
import { freePort } from '../../commands/ports.ts'
import { OWNER_EMAIL } from '../../commands/seed.ts'
import { type Guide, missingTools, openGuide } from '../support/guide.ts'
import { type System, startSystem } from '../support/system.ts'

const TOOLS = ['bash', 'curl', 'python3']

describe.skipIf(missingTools(TOOLS).length > 0)(
  `the guides of Authorize, Trace and events (skipped where one of ${TOOLS} is missing)`,
  { timeout: 240_000 },
  () => {
    let system: System
    const guides: Guide[] = []

    beforeAll(async () => {
      system = await startSystem({
        engine: 'postgres',
        only: ['web', 'dispatch', 'trace', 'diff', 'deliver', 'sequence'],
      })
      // Whom `npm start` makes the owner of the account.
      await system.database.owner('INSERT INTO users (account_id, id, email, role) VALUES ($1, $2, $3, $4)', [
        system.scope.accountId,
        newAccountId('usr'),
        OWNER_EMAIL,
        'owner',
      ])
    })
    afterAll(async () => {
      for (const guide of guides) guide.close()
      await system?.close()
    })

    it.each([
      'docs/authorize/authorize.md and docs/authorize/guard.md',
      'docs/authorize/mandates.md',
      'docs/authorize/schedules.md',
      'docs/authorize/approvals.md',
      'docs/authorize/policy-webhooks.md',
      'docs/authorize/authzen.md',
      'docs/trace/killswitch.md',
      // After the preview of the one before, which counts inferences.
      'docs/trace/trace.md',
      'docs/trace/diffs.md',
      'docs/webhooks/webhooks.md',
    ])('%s runs from the first block to the last, prints what it shows, and its TypeScript compiles', async (file) => {
      const guide = openGuide(file.split(' and '), {
        'http://localhost:8080': system.baseUrl,
        svc_test_your_own_key: system.key,
        '4000': String(await freePort()),
      })
      guides.push(guide)
      await guide.run()
      expect(await guide.types()).toBe('')
    })
  },
)
