// Takes the unassigned case that is due first: its review begins, and it belongs to the person who pressed. Where another
// adjuster was faster, the one after it is taken.

import { CountersignError } from '@countersign/client'
import { Button } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Play } from 'lucide-react'
import { addressOf, withQuery } from '../../app/address.ts'
import { useClient, useSession } from '../../app/session.tsx'
import type { Client, Query } from '../../recipe/list-page.tsx'
import { argumentsOf } from './queues.ts'

const LOOKED_AT = 50

export function TakeNext({ filters }: { filters: Query }) {
  const { environment, may } = useSession()
  const client = useClient()
  const navigate = useNavigate()
  const cache = useQueryClient()
  const take = useMutation({
    mutationFn: () => takeNext(client, filters),
    onSuccess: async (caseId) => {
      await cache.invalidateQueries({ queryKey: ['overview', environment] })
      if (caseId === undefined) notifications.show({ message: 'No unassigned case is left.' })
      else void navigate(addressOf(environment, withQuery(`cases/${caseId}`, { queue: 'mine' })))
    },
    onError: (error) =>
      notifications.show({ color: 'red', message: error instanceof CountersignError ? error.detail : error.message }),
  })
  if (!may('cases.write')) return null
  return (
    <Button size="xs" leftSection={<Play size={14} />} loading={take.isPending} onClick={() => take.mutate()}>
      Take next
    </Button>
  )
}

/** The case that was taken; undefined when none is left. @throws {CountersignError} */
async function takeNext(client: Client, { priority }: Query): Promise<string | undefined> {
  const waiting = argumentsOf({ queue: 'unassigned', priority })
  for (;;) {
    const { data, hasMore } = await client.cases.list({ ...waiting, limit: LOOKED_AT }).page()
    for (const { caseId, version } of data) {
      try {
        // A session that starts a review assigns its own user.
        await client.cases.transition(caseId, { to: 'in_review', version })
        return caseId
      } catch (error) {
        if (!(error instanceof CountersignError) || error.status !== 409) throw error
      }
    }
    // All of them were taken meanwhile, so another page of the list has others.
    if (!hasMore || data.length === 0) return undefined
  }
}
