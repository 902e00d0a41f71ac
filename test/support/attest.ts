import type { Captures } from '#src/attest/captures/captures.ts'
import { createDevices, type Devices, type DevicesDeps } from '#src/attest/devices/devices.ts'
import { deviceRoutes } from '#src/attest/devices/routes.ts'
import type { CaRegistry } from '#src/attest/trust/registry.ts'
import type { TestAnswer } from './http.ts'
import { type Sent, startTestService, type TestService } from './service.ts'

/** The registry of devices and the capture sessions behind a real application, with a clock that the test sets. */
export interface AttestApp extends Omit<TestService, 'call'> {
  devices: Devices
  rootCas: CaRegistry
  captures: Captures
  call(key: string, path: string, sent?: Sent): Promise<TestAnswer>
}

export async function startAttestApp(now: Date, deps: Partial<DevicesDeps> = {}): Promise<AttestApp> {
  const made: { devices?: Devices } = {}
  const service = await startTestService({
    now,
    replace: ({ platform, attest: { hardware, devices } }) => {
      made.devices = createDevices({ ...platform, trust: hardware.trust, ...deps })
      return [{ name: 'devices', routes: deviceRoutes(made.devices, devices.challenges) }]
    },
  })
  const { devices, trust, captures } = service.services.attest
  return {
    ...service,
    devices: made.devices ?? devices.devices,
    rootCas: trust.rootCas,
    captures: captures.captures,
    call: (key, path, sent) => service.call({ key }, path, sent),
  }
}
