import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { freePort, type Guide, missingTools, openGuide } from '../support/guide.ts'
import { type System, startSystem } from '../support/system.ts'

const TOOLS = ['bash', 'curl', 'python3']

describe.skipIf(missingTools(TOOLS).length > 0)(
  `the guides of Authorize (skipped where one of ${TOOLS} is missing)`,
  { timeout: 240_000 },
  () => {
    let system: System
    const guides: Guide[] = []

    beforeAll(async () => {
      system = await startSystem({ engine: 'postgres' })
    })
    afterAll(async () => {
      for (const guide of guides) guide.close()
      await system?.close()
    })

    it.each(['docs/authorize.md', 'docs/policy-webhooks.md', 'docs/authzen.md'])(
      '%s runs from the first block to the last, prints what it shows, and its TypeScript compiles',
      async (file) => {
        const guide = openGuide(file, {
          'http://localhost:8080': system.baseUrl,
          svc_test_your_own_key: system.key,
          '4000': String(await freePort()),
        })
        guides.push(guide)
        await guide.run()
        expect(await guide.types()).toBe('')
      },
    )
  },
)
