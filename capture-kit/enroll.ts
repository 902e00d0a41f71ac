// Enrolls the devices of a plan by their planned standing, each with its planned evidence.
import type { Client } from './client.ts'
import type { FleetPlan } from './fleet.ts'
import type { Crew } from './fleet-captures.ts'

/** Ids by the plan's index; `undefined` for devices that the account does not know. */
export async function enrollFleet(client: Client, plan: FleetPlan, crew: Crew): Promise<(string | undefined)[]> {
  const deviceIds: (string | undefined)[] = []
  for (const [index, { name, standing, hardware }] of plan.devices.entries()) {
    const device = crew.devices[index]
    if (device === undefined || standing === 'not_enrolled' || standing === 'stranger') {
      deviceIds.push(undefined)
      continue
    }
    const evidence = hardware === 'none' ? undefined : await crew.prove(index, await client.openChallenge())
    const { device_id: id } = await client.enroll(name, device.chain, evidence)
    if (standing === 'revoked') await client.revoke(id, 'reported stolen')
    deviceIds.push(id)
  }
  return deviceIds
}
