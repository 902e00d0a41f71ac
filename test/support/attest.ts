import { randomBytes } from 'node:crypto'
import { createCaptures } from '#src/attest/captures/captures.ts'
import { captureRoutes } from '#src/attest/captures/routes.ts'
import { createChallenges } from '#src/attest/devices/challenges.ts'
import { createDevices, type DevicesDeps } from '#src/attest/devices/devices.ts'
import { deviceRoutes } from '#src/attest/devices/routes.ts'
import { C2PA_ANCHORS, type CaRegistry, createCaRegistry, ROOT_CAS } from '#src/attest/trust/registry.ts'
import { trustRoutes } from '#src/attest/trust/routes.ts'
import type { KeyRow } from '#src/platform/http/caller.ts'
import { createFindEffect } from '#src/platform/http/idempotency.ts'
import { createPager } from '#src/platform/http/page.ts'
import { createKeyring, type TestCaller } from './callers.ts'
import { createTestDatabase, type TestDatabase } from './database.ts'
import { call, startApp, type TestAnswer, type TestApp } from './http.ts'

type Sent = NonNullable<Parameters<typeof call>[2]>

/** The registry of devices and the capture sessions behind a real application, with a clock that the test sets. */
export interface AttestApp {
  test: TestDatabase
  app: TestApp
  devices: ReturnType<typeof createDevices>
  rootCas: CaRegistry
  captures: ReturnType<typeof createCaptures>
  clock: { now: Date }
  /** An account of its own, and a raw key for it. */
  makeCaller(row?: Partial<KeyRow>): Promise<TestCaller>
  /** A raw key. */
  addKey(row: Partial<KeyRow>): string
  call(key: string, path: string, sent?: Sent): Promise<TestAnswer>
  close(): Promise<void>
}

export async function startAttestApp(now: Date, deps: Partial<DevicesDeps> = {}): Promise<AttestApp> {
  const test = await createTestDatabase()
  const clock = { now }
  const common = { db: test.db, now: () => clock.now, pager: createPager({ key: randomBytes(32) }) }
  const devices = createDevices({ ...common, ...deps })
  const rootCas = createCaRegistry(common, ROOT_CAS)
  const captures = createCaptures(common)
  const { findKey, addKey, makeCaller } = createKeyring(test)
  const routes = [
    ...deviceRoutes(devices, createChallenges(common)),
    ...trustRoutes(rootCas, createCaRegistry(common, C2PA_ANCHORS)),
    ...captureRoutes(captures),
  ]
  const app = await startApp(routes, { findKey, findEffect: createFindEffect(test.db) })

  return {
    test,
    app,
    devices,
    rootCas,
    captures,
    clock,
    addKey,
    makeCaller,
    call: (key, path, sent = {}) => call(app, path, { ...sent, key }),
    async close() {
      await app.close()
      await test.close()
    },
  }
}
