import { createTheme, type MantineColorsTuple } from '@mantine/core'

// White text on shade 7, and on shade 6 in the dark, reaches a contrast of 4.5. Mantine chooses the text by the light shade.
const ink: MantineColorsTuple = [
  '#eef3fb',
  '#dbe4f3',
  '#b5c7e6',
  '#8ca8d9',
  '#698dce',
  '#537cc7',
  '#4773c5',
  '#2f5597',
  '#2a4c88',
  '#1f3d73',
]

const CLOSE = { 'aria-label': 'Close' }

export const theme = createTheme({
  primaryColor: 'ink',
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  colors: { ink },
  fontFamily: "'Inter Variable', system-ui, sans-serif",
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, monospace',
  defaultRadius: 'sm',
  cursorType: 'pointer',
  // Dialogs and menus of people who asked their system for less motion appear at once.
  respectReducedMotion: true,
  components: {
    // Their header element would be a second banner of the page.
    Modal: { defaultProps: { closeButtonProps: CLOSE, attributes: { header: { role: 'presentation' } } } },
    Drawer: { defaultProps: { closeButtonProps: CLOSE, attributes: { header: { role: 'presentation' } } } },
  },
})
