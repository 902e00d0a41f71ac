import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { oldRows, rowRule } from '#src/platform/retention.ts'
import type { HardwareFeature } from '../hardware/feature.ts'
import { createChallenges } from './challenges.ts'
import { createDevices, type EndWithDevice } from './devices.ts'
import { LIFE_NOTES } from './life-notes.ts'
import { NOTES } from './notes.ts'
import { deviceRoutes } from './routes.ts'

export type DevicesFeature = ReturnType<typeof devicesFeature>

// Days after their expiry: long enough to investigate an enrollment that failed.
const CHALLENGE_DAYS = 31

/** The registry of capture devices, and the challenges that hardware evidence answers. */
export function devicesFeature(
  p: Platform,
  { trust, endWithDevice }: Pick<HardwareFeature, 'trust'> & { endWithDevice?: EndWithDevice },
) {
  const devices = createDevices({ ...p, trust, endWithDevice })
  const challenges = createChallenges(p)
  return defineFeature(
    {
      name: 'devices',
      data: [
        { table: 'devices', key: ['id'] },
        { table: 'device_entries', key: ['id'] },
        // An unused challenge lets its holder enroll a device.
        { table: 'device_challenges', key: ['id'], secrets: ['challenge'] },
      ],
      routes: deviceRoutes(devices, challenges),
      notes: { ...NOTES, ...LIFE_NOTES },
      retention: [
        rowRule(
          p.db,
          'device_challenges',
          CHALLENGE_DAYS,
          oldRows({ table: 'device_challenges', idType: 'chl', age: 'expires_at' }),
        ),
        // Only where keys are published: elsewhere a deleted device could enroll a revoked key again.
        rowRule(
          p.db,
          'devices',
          null,
          oldRows({
            table: 'devices',
            idType: 'dev',
            age: 'enrolled_at',
            unless: ['SELECT FROM capture_sessions WHERE capture_sessions.device_id = devices.id'],
            isLocking: true,
          }),
        ),
      ],
    },
    { devices, challenges },
  )
}
