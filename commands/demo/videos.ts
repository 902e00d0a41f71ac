// Videos, each sent chunk by chunk to its own session, as a phone does while it films.

import type { Attestation, Client } from '../../capture-kit/client.ts'
import type { Crew } from '../../capture-kit/fleet-captures.ts'
import { film, type PlannedVideo } from '../../capture-kit/footage.ts'

const RESULT_SECONDS = 30

/** Returns the ids of the videos' attestations, by external id. */
export async function sendVideos(
  client: Client,
  videos: readonly PlannedVideo[],
  { crew, deviceIds }: { crew: Crew; deviceIds: readonly (string | undefined)[] },
): Promise<Map<string, string>> {
  const sessions = await client.openSessions(videos.length)
  const sent = new Map<string, string>()
  for (const [index, video] of videos.entries()) {
    const [device, session] = [crew.devices[video.device], sessions[index]]
    if (device === undefined || session === undefined) throw new RangeError(`no phone or no session for ${video.kind}`)
    const { body, chunks } = film(video, device, { deviceId: deviceIds[video.device], session })
    for (const chunk of chunks) await client.sendChunk(session.capture_session_id, chunk.index, chunk.data)
    const { attestation_id: id } = await client.attest(body, 0)
    sent.set(video.externalId, id)
  }
  return sent
}

export async function readVideoResults(client: Client, sent: ReadonlyMap<string, string>) {
  const results = new Map<string, Attestation>()
  for (const [externalId, id] of sent) results.set(externalId, await client.getAttestation(id, RESULT_SECONDS))
  return results
}
