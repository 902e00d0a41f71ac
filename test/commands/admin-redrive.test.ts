import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Services } from '#src/services.ts'
import { readCommand } from '../../commands/admin/commands.ts'
import { type Caller, type ScreenService, startScreening } from '../attest/screen/service.ts'

describe('admin -- jobs redrive', () => {
  let service: ScreenService
  let caller: Caller
  beforeAll(async () => {
    service = await startScreening()
    caller = await service.makeCaller()
  })
  afterAll(() => service.close())

  async function makeDeadJob(): Promise<{ screeningId: string; jobId: string }> {
    const { id: mediaId } = await service.makeImage(caller)
    const { json } = await service.screen(caller, { media: { media_id: mediaId } })
    const screeningId = String(json.screening_id)
    const { id: jobId } = await service.take(screeningId)
    await service.test.db.tenant(caller, (tx) => service.makeWork().onDead(tx, caller, { screeningId }, 'spent'))
    await service.test.owner("UPDATE jobs SET state = 'dead', settled_at = now() WHERE id = $1", [jobId])
    return { screeningId, jobId }
  }

  const run = (line: string, isAgreed = true) =>
    readCommand(line.split(' '))?.act({
      services: {
        platform: { db: service.test.db },
        features: [{ name: 'screen', work: { screen: () => service.makeWork() } }],
      } as unknown as Services,
      confirm: async () => {
        if (!isAgreed) throw new Error('Nothing was changed.')
      },
      say: () => {},
      log: () => {},
    })

  it('redrives the subject together with its job, for one job and for a whole queue', async () => {
    const [one, other] = [await makeDeadJob(), await makeDeadJob()]
    expect(await service.find(caller, one.screeningId)).toMatchObject({ status: 'failed' })
    await expect(run(`jobs redrive ${one.jobId}`, false)).rejects.toThrow('Nothing was changed.')
    expect(await run(`jobs redrive ${one.jobId}`)).toEqual({ redriven: 1 })
    expect(await service.find(caller, one.screeningId)).toMatchObject({ status: 'queued', failure: null })
    expect(await service.find(caller, other.screeningId)).toMatchObject({ status: 'failed' })
    expect(await run('jobs redrive --queue screen')).toEqual({ redriven: 1 })
    expect(await service.find(caller, other.screeningId)).toMatchObject({ status: 'queued', failure: null })
    expect(await run('jobs redrive --queue screen')).toEqual({ redriven: 0 })
    await expect(run(`jobs redrive ${one.jobId}`)).rejects.toThrow('There is no dead job')
  })
})
