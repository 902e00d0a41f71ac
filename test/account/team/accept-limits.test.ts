import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startTeamService, type TeamService } from './service.ts'

let service: TeamService
beforeAll(async () => {
  service = await startTeamService()
})
afterAll(() => service.close())

describe('the limits of accepting an invite', () => {
  it('stop a client that guesses tokens, and none that has one', async () => {
    const { owner } = await service.makeTeam()
    const email = service.newAddress()
    await service.invite(owner, email)
    const token = await service.inviteTokenFor(email)
    const headers = { 'X-Forwarded-For': '203.0.113.77' }
    const codes: Record<string, number> = {}
    for (let round = 0; round < 50; round += 1) {
      const guesses = Array.from({ length: 20 }, (_, at) =>
        service.accept(String(round * 20 + at).padStart(43, 'A'), { headers }),
      )
      for (const { json } of await Promise.all(guesses)) codes[String(json.code)] = (codes[String(json.code)] ?? 0) + 1
    }
    expect(codes).toEqual({ invalid_request: 20, rate_limited: 980 })
    // Others behind the same address accept theirs.
    const accepted = await service.accept(token, { headers })
    expect(accepted.status).toBe(200)
    expect(accepted.headers['set-cookie']?.join()).toContain('svc_browser=')
  })

  it('stop a person who sends the token of one invite again and again, and no other behind the same address', async () => {
    const { owner } = await service.makeTeam()
    const [email, other] = [service.newAddress(), service.newAddress()]
    for (const each of [email, other]) await service.invite(owner, each)
    const { headers } = await service.enter(service.newAddress())
    const refused = { headers: { ...headers, 'X-Forwarded-For': '203.0.113.78' } }
    const token = await service.inviteTokenFor(email)
    for (let times = 0; times < 60; times += 1) expect((await service.accept(token, refused)).status).toBe(409)
    expect((await service.accept(token, refused)).json.code).toBe('rate_limited')
    const elsewhere = { headers: { 'X-Forwarded-For': '203.0.113.78' } }
    expect((await service.accept(await service.inviteTokenFor(other), elsewhere)).status).toBe(200)
  })
})
