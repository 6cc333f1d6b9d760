/** How the button looks. What a page may change without knowing what is inside are the custom properties. */
export const style = `
:host {
  display: inline-block;
  max-inline-size: 100%;
  font: inherit;
}
:host([hidden]) {
  display: none;
}
button {
  display: flex;
  gap: 0.625em;
  align-items: center;
  justify-content: center;
  box-sizing: border-box;
  inline-size: 100%;
  min-block-size: max(44px, 2.75em);
  padding: 0.5em 1.125em;
  border: 1px solid var(--countersign-border, transparent);
  border-radius: var(--countersign-radius, 0.375em);
  background: var(--countersign-background, light-dark(oklch(0.43 0.175 268), oklch(0.775 0.105 268)));
  color: var(--countersign-color, light-dark(oklch(0.985 0.006 88), oklch(0.2 0.03 262)));
  font: inherit;
  font-weight: 600;
  line-height: 1.25;
  text-align: start;
  overflow-wrap: anywhere;
  cursor: pointer;
}
button:hover:not([aria-disabled], :disabled) {
  background-image: linear-gradient(rgb(0 0 0 / 0.12), rgb(0 0 0 / 0.12));
}
button:focus-visible {
  outline: 3px solid var(--countersign-focus, light-dark(oklch(0.43 0.175 268), oklch(0.775 0.105 268)));
  outline-offset: 2px;
}
button:disabled {
  opacity: 0.55;
  cursor: default;
}
button[aria-disabled] {
  cursor: progress;
}
svg {
  flex: none;
  inline-size: 1.375em;
  block-size: 1.375em;
  fill: none;
  stroke: currentColor;
  stroke-linecap: round;
  stroke-linejoin: round;
  stroke-width: 2.5;
}
.status {
  position: absolute;
  inline-size: 1px;
  block-size: 1px;
  overflow: hidden;
  clip-path: inset(50%);
  white-space: nowrap;
}
@media (prefers-reduced-motion: no-preference) {
  [aria-disabled] .letter {
    stroke-dasharray: 50;
    animation: write 1.6s ease-in-out infinite;
  }
  @keyframes write {
    from {
      stroke-dashoffset: 50;
    }
    60%,
    to {
      stroke-dashoffset: 0;
    }
  }
}
@media (forced-colors: active) {
  button {
    border-color: ButtonText;
  }
  button:focus-visible {
    outline-color: Highlight;
  }
}
`
