import { useQuery } from '@tanstack/react-query'
import { useClient } from '../../app/session.tsx'

const NONE: readonly string[] = []

/** The types of events, which the API publishes; empty until they have arrived. They are asked for once. */
export function useEventTypes(): readonly string[] {
  const client = useClient()
  const { data } = useQuery({
    queryKey: ['event-types'],
    queryFn: async () => (await client.events.types.list().page()).data.map(({ type }) => type),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  })
  return data ?? NONE
}
