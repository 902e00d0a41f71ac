import { fileURLToPath } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

const service = process.env.DASHBOARD_SERVICE ?? 'http://localhost:8080'
// The service compares the Origin of a request with its own address, so Host stays as the browser sent it.
const proxied = { target: service, changeOrigin: false }

export default defineConfig({
  base: '/app/',
  plugins: [react()],
  resolve: {
    // The longer name first: the shorter one is its beginning.
    alias: {
      '@countersign/client/verify': fileURLToPath(new URL('../clients/typescript/src/verify.ts', import.meta.url)),
      '@countersign/client': fileURLToPath(new URL('../clients/typescript/src/countersign.ts', import.meta.url)),
    },
  },
  build: {
    target: 'es2023',
    // A data: address would need an exception in the policy of fonts.
    assetsInlineLimit: 0,
    // The largest part is loaded by pages that need it alone.
    chunkSizeWarningLimit: 800,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { '/v1': proxied, '/.well-known': proxied, '/docs': proxied } },
})
