import '@mantine/core/styles.css'
import '@mantine/notifications/styles.css'
import '@mantine/spotlight/styles.css'
import './app.css'
import './mail-links.ts'
import { MantineProvider } from '@mantine/core'
import { Notifications } from '@mantine/notifications'
import { QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { setNonce } from 'get-nonce'
import { Suspense } from 'react'
import { createRoot } from 'react-dom/client'
import { entryOf } from '../entry/entry.tsx'
import { queries } from './queries.ts'
import { router } from './router.tsx'
import { theme } from './theme.ts'

// Each answer of the page has a nonce for the style elements that libraries insert.
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? ''
setNonce(nonce)

const root = document.getElementById('root')
const Entry = entryOf(window.location.pathname)
if (root === null) throw new Error('index.html has no element #root')
createRoot(root).render(
  <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
    <Notifications position="top-right" />
    <QueryClientProvider client={queries}>
      {Entry === undefined ? (
        <RouterProvider router={router} />
      ) : (
        <Suspense>
          <Entry />
        </Suspense>
      )}
    </QueryClientProvider>
  </MantineProvider>,
)
