// Entry of the page of operators, on the internal port.

import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import '../app/app.css'
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { setNonce } from 'get-nonce'
import { createRoot } from 'react-dom/client'
import { theme } from '../app/theme.ts'
import { Operations } from './operations.tsx'

const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''
setNonce(nonce)
const queries = new QueryClient({ defaultOptions: { queries: { retry: false }, mutations: { retry: false } } })

const root = document.getElementById('root')
if (root === null) throw new Error('operations.html has no element #root')
createRoot(root).render(
  <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
    <Notifications position="top-right" />
    <QueryClientProvider client={queries}>
      <Operations />
    </QueryClientProvider>
  </MantineProvider>,
)
