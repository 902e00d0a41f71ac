// How answers are kept and repeated. The client itself repeats what failed; a page only shows it.

import { CountersignError } from '@countersign/client'
import { MutationCache, QueryCache, QueryClient } from '@tanstack/react-query'
import { announceSessionEnd } from './session-end.ts'

const noticeEnd = (error: unknown) => {
  if (!(error instanceof CountersignError)) return
  // There is a session, and it is older than the act allows.
  if (error.code === 'session_required') announceSessionEnd('old')
  else if (error.status === 401) announceSessionEnd('ended')
}

export const queries = new QueryClient({
  queryCache: new QueryCache({ onError: noticeEnd }),
  mutationCache: new MutationCache({ onError: noticeEnd }),
  defaultOptions: {
    queries: {
      retry: false,
      staleTime: 10_000,
      // Each request extends the idle limit of the session, so pages ask only where a person uses them.
      refetchOnWindowFocus: false,
      refetchOnReconnect: true,
    },
    mutations: { retry: false },
  },
})
