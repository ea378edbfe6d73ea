/** Names and texts that are longer than their places. */
import { answers, asks, done, makeSession, MINUTE, text } from './make';
import type { Stage } from './scenes';

const WORD = 'Rechtsschutzversicherungsgesellschaften'.repeat(8);

const TABLE = [
  '| Case | Delimiter | Quoting | Byte order mark | Line endings | Escapes | Note |',
  '| --- | --- | --- | --- | --- | --- | --- |',
  ...Array.from(
    { length: 6 },
    (_, n) => `| ${n + 1} | semicolon | always, also where none is needed | with | CRLF | doubled | ${WORD.slice(0, 60)} |`,
  ),
].join('\n');

const CODE = [
  '```ts',
  `export const line = '${'x'.repeat(300)}';`,
  ...Array.from({ length: 40 }, (_, n) => `export const field${n} = quoted(row[${n}] ?? '');`),
  '```',
].join('\n');

export function longTexts({ world, goals }: Stage): void {
  const title = `A title that goes on: ${'and on '.repeat(30)}${WORD}`;
  const directory = `/home/ada/${'a-folder-with-a-long-name/'.repeat(8)}exporter`;
  const session = makeSession(title, { directory });
  const now = Date.now();
  const asked = asks(session, now - 20 * MINUTE, `${WORD}\n\n${'A long question. '.repeat(120)}`);
  const again = asks(session, now - 10 * MINUTE, '<script>alert(1)</script> & “quotes” שלום 日本語 🙂');
  const command = `node -e "${'console.log(1);'.repeat(40)}"`;
  world.add(session, [
    asked,
    answers(session, asked, [
      done('bash', { command, description: WORD }, {
        title: WORD,
        output: `${'y'.repeat(400)}\n`.repeat(60),
        metadata: { exit: 0 },
        took: 83_000,
      }),
      done('read', { filePath: `${directory}/${WORD}.ts` }, { title: WORD, output: CODE }),
      text(`# ${WORD}\n\n${'A long answer. '.repeat(80)}\n\n${TABLE}\n\n${CODE}\n\n> ${WORD}\n\n1. ${WORD}\n   - ${WORD}`),
    ]),
    again,
    answers(session, again, [
      text('<b>no markup</b> [a link](https://example.com) ![a picture](https://example.com/a.png) $x^2$'),
    ]),
  ]);
  world.main = session.id;
  world.todos.set(session.id, [{ content: WORD, status: 'in_progress', priority: 'high' }]);
  goals.place(session.id, {
    objective: 'An objective that says a lot. '.repeat(60),
    note: 'The quoting tests pass, the delimiter tests pass, and what remains are the three cases with a byte order mark, of which the second fails on Windows line endings only.',
  });
}
