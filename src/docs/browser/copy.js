// Buttons that copy a block of code.

/** Adds a button to the element around a block, unless it has one. The block is read when the button is pressed. */
export function addCopyButton(place) {
  if (place.querySelector(':scope > .copy') !== null) return
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'copy'
  button.textContent = 'Copy'
  button.addEventListener('click', async () => {
    const isCopied = await copy(place.querySelector('pre'))
    button.textContent = isCopied ? 'Copied' : 'Press Ctrl+C'
    window.setTimeout(() => {
      button.textContent = 'Copy'
    }, 2_000)
  })
  place.append(button)
}

// The clipboard is there on https and localhost only; elsewhere the text is selected, and most browsers still copy
// that.
async function copy(block) {
  try {
    await navigator.clipboard.writeText(block.textContent)
    return true
  } catch {
    window.getSelection()?.selectAllChildren(block)
    return document.execCommand('copy')
  }
}
