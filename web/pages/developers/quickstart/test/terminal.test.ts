import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ClientId, asId } from '@countersign/protocol/ids'
import { terminalProgram } from '../terminal.ts'

const app = {
  clientId: asId<ClientId>('app_0123'),
  redirectUris: ["https://ledger.example/?it's=here", 'https://other.example/'],
  allowedScopes: ['openid', 'email'],
  public: false,
}

test('the program asks for what the app may have, and comes back where it may', () => {
  const program = terminalProgram(app, 'https://id.example')
  assert.match(program, /scope: 'openid',/)
  assert.match(program, /redirect_uri: "https:\/\/ledger\.example\/\?it's=here",/)
  assert.match(program, /CLIENT_SECRET/)
})

test('an app without a secret asks for none', () => {
  const program = terminalProgram({ ...app, public: true }, 'https://id.example')
  assert.doesNotMatch(program, /SECRET/)
  assert.match(program, /client\.None\(\)/)
})

test('only a service without TLS is spoken to in the clear', () => {
  assert.doesNotMatch(terminalProgram(app, 'https://id.example'), /allowInsecureRequests/)
  assert.match(terminalProgram(app, 'http://localhost:4401'), /allowInsecureRequests/)
})
