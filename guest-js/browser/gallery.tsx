import '@fontsource-variable/inter';
import '../react/styles.css';
import './gallery.css';

import { emit } from '@tauri-apps/api/event';
import { StrictMode, useState, type ReactNode } from 'react';
import { createRoot } from 'react-dom/client';

import { armStore, draftKey, sessionKey } from '../arm.js';
import fr from '../locales/fr.json' with { type: 'json' };
import {
  GoalBadge,
  GoalButton,
  GoalCounter,
  GoalDialog,
  GoalProvider,
  GoalStrip,
  useArming,
} from '../react/index.js';
import { Backend } from '../tests/backend.js';
import { server } from '../tests/fixtures.js';
import { STATES, stateOf } from './states.js';

const query = new URLSearchParams(location.search);
const scene = query.get('scene') ?? 'strips';
const only = query.get('state');

const backend = new Backend().install();
backend.goals = Object.keys(STATES).map(stateOf);
backend.server = server({ state: 'away', seq: 2 });
backend.answers['objective'] = () => ({ text: null });
Object.assign(window, { backend, emit, armStore });

const names = only === null ? Object.keys(STATES) : [only];

function Case({ name, children }: { name: string; children: ReactNode }): ReactNode {
  return (
    <div className="case">
      <h2>{name}</h2>
      {children}
    </div>
  );
}

function Strips(): ReactNode {
  return names.map((name) => (
    <Case key={name} name={name}>
      <GoalStrip
        sessionId={`ses_${name}`}
        onAnswer={() => undefined}
        subagentName={() => 'explore'}
      />
    </Case>
  ));
}

function Signs(): ReactNode {
  armStore().send(draftKey('armed'), { type: 'arm' });
  armStore().send(draftKey('long'), { type: 'arm' });
  return (
    <>
      <Case name="no goal, armed, armed with a text that is too long">
        <div className="row">
          <GoalButton draftId="plain" />
          <GoalButton draftId="armed" />
          <GoalCounter draftId="armed" text="Make the tests pass." />
          <GoalCounter draftId="long" text={'x'.repeat(5_200)} />
        </div>
      </Case>
      {names.map((name) => (
        <Case key={name} name={name}>
          <div className="row">
            <GoalButton sessionId={`ses_${name}`} />
            <GoalBadge sessionId={`ses_${name}`} />
            Refactor the exporter
          </div>
        </Case>
      ))}
    </>
  );
}

function Manage(): ReactNode {
  const [open, setOpen] = useState(true);
  const name = only ?? '';
  return (
    <>
      <button
        type="button"
        onClick={() => {
          setOpen(true);
        }}
      >
        Open
      </button>
      <GoalDialog
        sessionId={`ses_${name}`}
        open={open}
        onOpenChange={setOpen}
        raise={name === 'budget-limited'}
      />
    </>
  );
}

/** As in an app: strip, editor, target and counter. */
function Composer(): ReactNode {
  const [text, setText] = useState('');
  const sessionId = `ses_${only ?? 'none'}`;
  const [{ armed }] = useArming({ sessionId });
  return (
    <div className="composer">
      <GoalStrip sessionId={sessionId} />
      <textarea
        aria-label="Message"
        placeholder={armed ? 'This message becomes the goal' : 'Message'}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
        }}
      />
      <div className="row">
        <GoalButton sessionId={sessionId} />
        <GoalCounter sessionId={sessionId} text={text} />
        <button
          type="button"
          onClick={() => {
            if (armStore().consume(sessionKey(sessionId), { text })) setText('');
          }}
        >
          Send
        </button>
      </div>
    </div>
  );
}

/** Two hundred rows of a sidebar and a strip, for the storm of changes. */
function Crowd(): ReactNode {
  return (
    <>
      <GoalStrip sessionId="ses_0" />
      {Array.from({ length: 200 }, (_, n) => (
        <div key={n} className="row">
          <GoalBadge sessionId={`ses_${String(n)}`} /> Session {n}
        </div>
      ))}
    </>
  );
}

const SCENES: Record<string, () => ReactNode> = {
  strips: Strips,
  signs: Signs,
  dialog: Manage,
  composer: Composer,
  crowd: Crowd,
};

const language = query.get('lang') === 'fr' ? { messages: fr, locale: 'fr' } : {};
document.documentElement.lang = query.get('lang') ?? 'en';
const theme = query.get('theme');
if (theme !== null) document.documentElement.dataset['theme'] = theme;

const Scene = SCENES[scene] ?? Strips;
const root = document.getElementById('root');
if (root !== null) {
  createRoot(root).render(
    <StrictMode>
      <GoalProvider {...language}>
        <main>
          <h1>{scene}</h1>
          <Scene />
        </main>
      </GoalProvider>
    </StrictMode>,
  );
}
