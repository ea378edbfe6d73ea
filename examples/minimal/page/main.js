// Lists goals, starts, pauses and resumes them. Events are hints, the list is the truth: so it
// listens first and lists then, and takes nothing that is older than what it shows.
const { invoke } = window.__TAURI__.core;
const { emit, listen } = window.__TAURI__.event;

const goals = new Map();
const newest = new Map();
let known = 0;

const $ = (id) => document.getElementById(id);

function take(seq, sessionId, goal) {
  if (seq <= (newest.get(sessionId) ?? known)) return;
  newest.set(sessionId, seq);
  if (goal) goals.set(sessionId, goal);
  else goals.delete(sessionId);
}

function takeAll({ seq, goals: listed }) {
  const here = new Set(listed.map((goal) => goal.sessionId));
  for (const goal of listed) if (seq >= (newest.get(goal.sessionId) ?? 0)) goals.set(goal.sessionId, goal);
  for (const [id] of goals) if (!here.has(id) && seq >= (newest.get(id) ?? 0)) goals.delete(id);
  known = seq;
}

function draw() {
  const items = [...goals.values()].map((goal) => {
    const item = document.createElement('li');
    item.id = goal.sessionId;
    const state = goal.status === 'active' ? goal.phase : goal.status;
    const text = document.createElement('span');
    text.textContent = `${goal.title || goal.sessionId}: ${state}. ${goal.note}`;
    item.append(text);
    if (goal.status === 'active') item.append(button('Pause', 'pause', goal));
    else if (goal.status !== 'complete') item.append(button('Resume', 'resume', goal));
    return item;
  });
  $('goals').replaceChildren(...items);
  emit('shown', [...goals.values()].map((goal) => `${goal.sessionId} ${goal.status} ${goal.phase}`));
}

function button(label, command, goal) {
  const made = document.createElement('button');
  made.textContent = label;
  made.onclick = () => act(command, { sessionId: goal.sessionId });
  return made;
}

async function act(command, args) {
  $('error').textContent = '';
  try {
    return await invoke(`plugin:goal|${command}`, { ...args, requestId: crypto.randomUUID() });
  } catch (error) {
    $('error').textContent = error.message ?? error;
  }
}

function line({ state, url, reason }) {
  $('server').textContent = [state, url, reason].filter(Boolean).join(' · ');
  emit('shown', `server ${state}`);
}

await listen('goal://changed', ({ payload }) => {
  take(payload.seq, payload.sessionId, payload.goal);
  draw();
});
await listen('goal://connection', ({ payload }) => line(payload));
await listen('goal://open', ({ payload }) => {
  $(payload.sessionId)?.classList.add('opened');
  emit('shown', `open ${payload.sessionId}`);
});
$('new').onsubmit = async (event) => {
  event.preventDefault();
  const { session, objective } = Object.fromEntries(new FormData(event.target));
  await act('start', { sessionId: session, objective });
};
line(await invoke('plugin:goal|server_status'));
takeAll(await invoke('plugin:goal|list'));
draw();
